"""Every text field: filled by people, so that it may contain anything, or by us."""

from django.apps import apps
from django.db.models import CharField, Model, TextField

OURS = ("admin", "annotation", "auth", "grounding", "marketplace")
# What people or programs elsewhere write. A field that is in neither table fails the test.
FREE = (
    *("admin.logentry.object_repr", "admin.logentry.change_message", "auth.group.name"),
    *("auth.user.username", "auth.user.first_name", "auth.user.last_name", "auth.user.email"),
    *("annotation.campaign.name", "annotation.image.name", "annotation.image.filename"),
    *("annotation.image.withdrawn_reason", "annotation.caption.text", "annotation.worker.name"),
    *("annotation.goldquestion.retired_reason", "annotation.guide.source"),
    *("annotation.sittingquestion.comment", "annotation.assignment.reason"),
    *("annotation.outboxcall.last_error", "annotation.chain.review", "annotation.trustevent.by"),
    *("annotation.pendingdoubt.reason", "annotation.appeal.words", "annotation.appeal.reply"),
    *("annotation.storedestimate.error", "grounding.experiment.release"),
    *("grounding.experiment.backbone", "grounding.experiment.vectors", "grounding.experiment.step"),
    *("grounding.experiment.notes", "grounding.experiment.error", "marketplace.requester.name"),
    *(
        "marketplace.invitation.note",
        "marketplace.hittype.title",
        "marketplace.hittype.description",
    ),
    *("marketplace.hittype.keywords", "marketplace.hit.annotation"),
    *("marketplace.assignment.feedback", "marketplace.transaction.memo"),
    *("marketplace.notificationsettings.destination", "marketplace.event.destination"),
    *("marketplace.event.last_error", "marketplace.message.subject", "marketplace.message.text"),
    *("marketplace.qualificationtype.name", "marketplace.qualificationtype.description"),
    *("marketplace.qualificationtype.keywords", "marketplace.qualification.reason"),
    *("marketplace.qualificationrequest.reason", "marketplace.workerblock.reason"),
    *("marketplace.bonuspayment.reason",),
)
# Numbers, keys, hashes, states and documents that code writes and reads.
CODED = (
    *("admin.logentry.object_id", "auth.permission.name", "auth.permission.codename"),
    *("auth.user.password", "annotation.campaignsettings.body", "annotation.image.split"),
    *("annotation.image.file", "annotation.image.sha256", "annotation.mention.types"),
    *("annotation.answerkey.body", "annotation.storedestimate.body", "annotation.fact.kind"),
    *("annotation.fact.body", "annotation.fact.question", "annotation.goldquestion.key"),
    *("annotation.goldquestion.answer", "annotation.goldquestion.body"),
    *("annotation.sitting.assignment_id", "annotation.sitting.hit_id", "annotation.sitting.proof"),
    "annotation.sitting.mark",
    *("annotation.sitting.ways", "annotation.sitting.digest", "annotation.sittingquestion.key"),
    *("annotation.sittingquestion.shown", "annotation.sittingquestion.answer"),
    *("annotation.stagesupply.qualification_type_id", "annotation.hitterms.digest"),
    *("annotation.hitterms.body", "annotation.hitterms.hit_type_id", "annotation.hit.hit_id"),
    *("annotation.assignment.assignment_id", "annotation.assignment.proof"),
    *("annotation.payment.key", "annotation.outboxcall.key", "annotation.outboxcall.lane"),
    *("annotation.outboxcall.token", "annotation.outboxcall.stage"),
    *("annotation.outboxcall.details", "annotation.storedstate.body", "annotation.chain.types"),
    *("annotation.openquestion.key", "annotation.openquestion.kept_out"),
    *("annotation.trustevent.key", "annotation.trustevent.body", "annotation.workerstanding.body"),
    *("grounding.experiment.recipe", "marketplace.requester.requester_id"),
    *("marketplace.accesskey.key_id", "marketplace.worker.worker_id", "marketplace.worker.country"),
    *("marketplace.worker.subdivision", "marketplace.invitation.code_hash"),
    *("marketplace.hittype.hit_type_id", "marketplace.hittype.fingerprint"),
    *("marketplace.hit.hit_id", "marketplace.hit.question", "marketplace.assignment.answer"),
    *("marketplace.assignment.assignment_id", "marketplace.transaction.kind"),
    *("marketplace.transaction.key", "marketplace.notificationsettings.transport"),
    *("marketplace.notificationsettings.version", "marketplace.event.body"),
    *("marketplace.qualificationtype.qualification_type_id", "marketplace.qualificationtype.test"),
    *("marketplace.qualificationtype.answer_key", "marketplace.qualificationrequest.request_id"),
    *("marketplace.qualificationrequest.test", "marketplace.qualificationrequest.answer"),
    *("marketplace.requesttoken.operation", "marketplace.requesttoken.token"),
    *("marketplace.requesttoken.result",),
)


def text_fields() -> dict[str, type[Model]]:
    """Return all text fields without a list of choices: `app.model.field` → model."""
    return {
        f"{model._meta.label_lower}.{field.name}": model
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for field in model._meta.local_concrete_fields
        if isinstance(field, CharField | TextField) and not field.choices
    }
