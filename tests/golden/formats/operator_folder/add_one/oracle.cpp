// oracle
