// baseline
