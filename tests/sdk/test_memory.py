"""What was handled is remembered until its deadline, in bounded memory (C4.7)."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from armka.sdk.memory import REMEMBER_AT_LEAST_SECONDS, HandledJobs

JOBS = [UUID(int=n) for n in range(10)]
LATER = REMEMBER_AT_LEAST_SECONDS * 2


def test_a_job_is_known_from_the_start_of_its_work_to_its_deadline():
    jobs = HandledJobs(capacity=10)
    assert JOBS[0] not in jobs

    jobs.take_on(JOBS[0])
    jobs.forget_expired(now=LATER * 10)
    assert JOBS[0] in jobs, "it is in work, whatever the time"

    jobs.answered(JOBS[0], deadline=LATER, now=0)
    jobs.forget_expired(now=LATER)
    assert JOBS[0] in jobs

    jobs.forget_expired(now=LATER + 1)
    assert JOBS[0] not in jobs
    assert len(jobs) == 0


def test_a_job_with_a_past_deadline_is_known_as_long_as_it_may_be_repeated():
    jobs = HandledJobs(capacity=10)
    jobs.take_on(JOBS[0])
    jobs.answered(JOBS[0], deadline=-5, now=0)

    jobs.forget_expired(now=120)

    assert JOBS[0] in jobs


def test_at_the_limit_the_nearest_deadline_is_forgotten_first():
    jobs = HandledJobs(capacity=2)
    for job, deadline in zip(JOBS, (LATER + 3, LATER + 1, LATER + 2), strict=False):
        jobs.take_on(job)
        jobs.answered(job, deadline=deadline, now=0)

    assert [job in jobs for job in JOBS[:3]] == [True, False, True]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["take", "answer", "wait"]), st.sampled_from(JOBS), st.floats(0, 2000)
        )
    )
)
def test_it_never_holds_more_than_it_may_and_never_forgets_work(steps):
    jobs, working, now = HandledJobs(capacity=3), set(), 0.0
    for step, job, amount in steps:
        if step == "take" and job not in jobs:
            jobs.take_on(job)
            working.add(job)
        elif step == "answer" and job in working:
            jobs.answered(job, deadline=now + amount, now=now)
            working.discard(job)
        elif step == "wait":
            now += amount
            jobs.forget_expired(now)

        assert all(job in jobs for job in working)
        assert len(jobs) <= len(working) + 3
