def run(x):
    return x + 1, x.int()
