"""Every fault of a service, by its id."""

from tests.conformance.service import faults_of_messages, faults_of_work
from tests.conformance.service.fault import Fault

FAULTS: dict[str, Fault] = {
    member.id: member
    for room in (faults_of_messages, faults_of_work)
    for member in vars(room).values()
    if isinstance(member, Fault)
}
