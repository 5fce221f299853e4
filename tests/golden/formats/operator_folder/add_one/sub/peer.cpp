// peer
