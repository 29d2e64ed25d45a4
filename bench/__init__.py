"""The benchmark: the exchange beside its peers, in one interleaved run, on real servers.

Run it with `make bench`. It prints medians and ratios of one run and judges ratios only: absolute
numbers belong to a machine and a minute.
"""
