module sinew.bench/peer

go 1.23
