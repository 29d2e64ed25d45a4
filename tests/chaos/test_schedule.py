"""A seed is a whole storm."""

from collections import Counter

from chaos.driver import sendings
from chaos.schedule import VICTIMS, Harm, plan


def test_a_seed_decides_everything():
    """The same seed gives the same faults and documents, another seed others."""
    names = ["a.xlsx", "b.xls"]
    once, again, other = (plan(seed, 60, 21, 5) for seed in (1, 1, 2))
    assert once == again != other
    one, same, another = (sendings(seed, names, 50, 60, [9, 30]) for seed in (1, 1, 2))
    assert one == same != another


def test_every_process_suffers_everything_before_anything_comes_again():
    faults = plan(3, 600, 42, 10)
    pairs = Counter((fault.victim, fault.harm) for fault in faults[:21])
    assert pairs == {(victim, harm): 1 for victim in VICTIMS for harm in Harm}
    assert Counter((fault.victim, fault.harm) for fault in faults[21:]) == pairs


def test_faults_come_in_order_within_the_storm_and_end():
    faults = plan(4, 100, 30, 7)
    assert [fault.number for fault in faults] == list(range(1, 31))
    assert sorted(faults, key=lambda fault: fault.at) == faults
    assert all(0 < fault.at < 100 and 0 < fault.seconds <= 7 for fault in faults)
