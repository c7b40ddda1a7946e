"""A requester's program as one would have written it for Mechanical Turk.

It knows nothing of Chainbox: boto3 finds the address and the keys in the environment.
"""

import sys
import time
from typing import Any
from xml.sax.saxutils import escape

import boto3

QUESTION = """
<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">
  <ExternalURL>{url}</ExternalURL>
  <FrameHeight>400</FrameHeight>
</ExternalQuestion>
"""


def main(url: str) -> None:
    mturk: Any = boto3.client("mturk")
    print("balance", mturk.get_account_balance()["AvailableBalance"], flush=True)
    qualification = mturk.create_qualification_type(
        Name="Careful readers",
        Description="Whoever asks may read for us",
        QualificationTypeStatus="Active",
        AutoGranted=True,
        AutoGrantedValue=80,
    )["QualificationType"]["QualificationTypeId"]
    hit_type = mturk.create_hit_type(
        Title="Name the animal in the photo",
        Description="One photo, one word",
        Keywords="photo, animal",
        Reward="0.25",
        AssignmentDurationInSeconds=600,
        AutoApprovalDelayInSeconds=86400,
        QualificationRequirements=[
            {
                "QualificationTypeId": qualification,
                "Comparator": "GreaterThanOrEqualTo",
                "IntegerValues": [80],
                "ActionsGuarded": "Accept",
            }
        ],
    )["HITTypeId"]
    hit = mturk.create_hit_with_hit_type(
        HITTypeId=hit_type,
        MaxAssignments=1,
        LifetimeInSeconds=3600,
        Question=QUESTION.format(url=escape(url)),
        UniqueRequestToken="first-photo",
    )["HIT"]["HITId"]
    print("published", hit, flush=True)
    while mturk.get_hit(HITId=hit)["HIT"]["HITStatus"] != "Reviewable":
        time.sleep(0.3)
    pages = mturk.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit, AssignmentStatuses=["Submitted"]
    )
    for assignment in [one for page in pages for one in page["Assignments"]]:
        print("answer", assignment["Answer"], flush=True)
        mturk.approve_assignment(
            AssignmentId=assignment["AssignmentId"], RequesterFeedback="Thank you"
        )
        mturk.send_bonus(
            WorkerId=assignment["WorkerId"],
            AssignmentId=assignment["AssignmentId"],
            BonusAmount="0.10",
            Reason="First of all",
            UniqueRequestToken=f"bonus-{assignment['AssignmentId']}",
        )
    mturk.delete_hit(HITId=hit)
    print("balance", mturk.get_account_balance()["AvailableBalance"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
