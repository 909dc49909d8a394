"""What cannot be known from the description: a URL that may be registered, an event that the catalog has, a cursor that
an answer gave. Valid requests get such values most of the time; the rest stay as Schemathesis made them."""

import json
import os
import random
import uuid

import schemathesis

RECEIVER_URL = os.environ["RECEIVER_URL"]
with open(os.environ["EVENTS_FILE"], encoding="utf-8") as file:
    EVENTS = json.load(file)
# Bodies that name an event which every version has, of an entity of its kind.
with open(os.environ["NAMED_FILE"], encoding="utf-8") as file:
    NAMED = json.load(file)

# Of its own: Hypothesis seeds the module's before each request, and the same choice would be made each time.
chance = random.Random(1)

# An endpoint that stays, a delivery to it that can be sent again, and a replay.
KEPT = {"id": os.environ["KEPT_ENDPOINT"], "delivery_id": os.environ["KEPT_DELIVERY"]}

# The event of that delivery, and what it is about.
KEPT_EVENT = os.environ["KEPT_EVENT"]
KEPT_SUBJECT = os.environ["KEPT_SUBJECT"]

# The merchant whose sessions of the console are made and ended one by one, and one whose sessions are ended all at once:
# the session of the other requests must stay. Links that open the console, and sessions that can be ended.
MERCHANT = os.environ["MERCHANT"]
OTHER_MERCHANT = os.environ["OTHER_MERCHANT"]
links = os.environ["KEPT_LINKS"].split()
sessions = os.environ["KEPT_SESSIONS"].split()

# A record that stays in quarantine: its merchant is unknown. And what says which records are put back, beside their ids.
KEPT_RECORD = os.environ["KEPT_RECORD"]
CHOICES = ("all", "reason", "merchant_id", "about", "since")

# These are about one merchant, and leave it as others need it. Merchants, keys and replays that the platform has made.
OF_MERCHANTS = ("getMerchant", "updateMerchant", "resumeMerchant", "createApiKey", "listApiKeys")
made_merchants = []
made_keys = []
made_replays = []

# These need an id that belongs to the endpoint, too.
OF_A_DELIVERY_OR_REPLAY = ("getDelivery", "resendDelivery", "getReplay")

# What answers told of: endpoints, the last deliveries that a list showed, replays, and `next_cursor` of each list's last
# page.
endpoints = []
deliveries = []
replays = [(KEPT["id"], os.environ["KEPT_REPLAY"])]
cursors = {}


def often(case, share=0.75):
    """Always where requests are few (examples), or must come out the same when they are repeated (stateful)."""
    return case.meta.phase.name.value in ("examples", "stateful") or chance.random() < share


def spare_kept(case):
    """The endpoint that stays is neither disabled nor deleted, whatever told of it: nothing could be sent again."""
    name = case.operation.definition.raw.get("operationId")
    if name in ("updateWebhookEndpoint", "deleteWebhookEndpoint") and case.path_parameters.get("id") == KEPT["id"]:
        case.path_parameters.update(id=str(uuid.uuid4()))
    # Nor is the merchant of the other requests put on hold or closed, nor its key revoked: lists tell of them.
    if (case.path_parameters or {}).get("merchant_id") != MERCHANT:
        return
    if name in ("pauseMerchant", "closeMerchant"):
        case.path_parameters.update(merchant_id=str(uuid.uuid4()))
    if name == "revokeApiKey":
        case.path_parameters.update(api_key_uuid=str(uuid.uuid4()))


@schemathesis.hook
def before_call(context, case, kwargs):
    spare_kept(case)
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    name = case.operation.definition.raw.get("operationId")
    body = case.body if isinstance(case.body, dict) else None
    # The description's example of a key would make every request after the first a repeat of another.
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())
    if body is not None and "url" in body and often(case):
        body["url"] = f"{RECEIVER_URL}/{uuid.uuid4()}"
    # The first request needs both parts, and a secret that is easy to guess is refused: most that the generator makes are.
    if name == "updateMerchantWebhook" and body is not None and often(case):
        body.update(webhook_url=f"{RECEIVER_URL}/{uuid.uuid4()}", webhook_secret=str(uuid.uuid4()))
    # Most endpoints have no prepared secret.
    if name == "rotateWebhookEndpointSecret" and body is not None and often(case):
        body.pop("use", None)
    if name == "publishEvents" and often(case):
        case.body = chance.sample(EVENTS, chance.randint(1, 3))
    # A cursor that nobody gave is refused, and no schema can say which were given.
    if "cursor" in (case.query or {}):
        del case.query["cursor"]
        if cursors.get(case.path) and often(case):
            case.query["cursor"] = cursors[case.path]
    # A stream without an end would never be answered.
    if name == "streamEvents":
        case.query = {**(case.query or {}), "seconds": 0}
        if "Last-Event-ID" in (case.headers or {}):
            case.headers["Last-Event-ID"] = "0"
    # Any text may be a subType, by the schema, and any type may be of a user. Most that it allows are refused: few may come,
    # or the tool takes the description for a wrong one.
    if name in ("testWebhookEndpoint", "triggerEvent") and body is not None and often(case, 0.95):
        case.body = dict(chance.choice(NAMED))
    # Operational endpoints refuse events, and many of those that answers name are operational.
    if name == "testWebhookEndpoint" and often(case):
        case.path_parameters.update(id=KEPT["id"])
    if name == "resendDelivery" and often(case):
        case.path_parameters.update(KEPT)
    # What has one of these ids is known to the service.
    if name == "lookUp" and often(case):
        case.path_parameters.update(any_id=chance.choice([KEPT["delivery_id"], KEPT_EVENT, KEPT_SUBJECT]))
    if name == "getSubject" and often(case):
        case.path_parameters.update(subject_id=KEPT_SUBJECT)
    # What was published a moment ago is not routed yet: a link to it would be a 404.
    if name == "getEvent" and often(case):
        case.path_parameters.update(event_id=KEPT_EVENT)
    if name == "getPublishedEvent" and often(case):
        case.path_parameters.update(event_id=KEPT_EVENT)
    # A name is percent-encoded: few texts are, and fewer are UTF-8 then.
    if "On-Behalf-Of" in (case.headers or {}):
        case.headers["On-Behalf-Of"] = "Ann%20from%20support"
    if name in ("pauseMerchant", "closeMerchant") and made_merchants and often(case):
        case.path_parameters.update(merchant_id=chance.choice(made_merchants))
    if name in OF_MERCHANTS and often(case):
        case.path_parameters.update(merchant_id=MERCHANT)
    # The merchants that answers name exist already, and some are closed.
    if name == "createMerchant" and body is not None and "merchant_id" in body and often(case):
        body["merchant_id"] = str(uuid.uuid4())
    if name == "startIncidentReplay" and body is not None and "merchant_id" in body and often(case):
        body["merchant_id"] = MERCHANT
    if "merchant_id" in (case.query or {}) and often(case):
        case.query["merchant_id"] = MERCHANT
    if name == "revokeApiKey" and made_keys and often(case):
        case.path_parameters.update(merchant_id=MERCHANT, api_key_uuid=made_keys.pop())
    # A period that ends before it begins is refused, and no schema can say so.
    if name == "startIncidentReplay" and body is not None and "since" in body and often(case, 0.95):
        body["since"] = "2025-03-01T10:00:00Z"
        body.pop("until", None)
    if name == "getIncidentReplay" and often(case):
        case.path_parameters.update(incident_replay_id=os.environ["KEPT_REPLAY"])
    # One that has ended is a 409, which is an answer of the operation's own.
    if name == "cancelIncidentReplay" and often(case):
        case.path_parameters.update(incident_replay_id=chance.choice([os.environ["KEPT_REPLAY"], *made_replays[-3:]]))
    if name in ("getQuarantined", "replayQuarantined") and often(case):
        case.path_parameters.update(quarantine_id=KEPT_RECORD)
    # Which records are meant is said by ids or by filters: no schema can say so.
    if name == "replayQuarantine" and body is not None and often(case):
        body.pop("quarantine_ids", None)
        if not any(choice in body for choice in CHOICES) or body.get("all") is False:
            body["all"] = True
    if name == "createPortalSession" and often(case):
        case.path_parameters.update(merchant_id=MERCHANT)
    if name == "endPortalSessions" and (often(case) or case.path_parameters.get("merchant_id") == MERCHANT):
        case.path_parameters.update(merchant_id=OTHER_MERCHANT)
    if name == "endPortalSession" and sessions and often(case):
        case.path_parameters.update(merchant_id=MERCHANT, portal_session_uuid=sessions.pop())
    if name == "openConsole" and links and often(case):
        body.update(link=links.pop())
    # Links give the other ids in the stateful phase.
    if case.meta.phase.name.value == "stateful":
        return
    # Without ids of its own, whether an operation is ever accepted would depend on what answers told of before.
    if "id" in (case.path_parameters or {}) and name not in OF_A_DELIVERY_OR_REPLAY and endpoints and often(case):
        case.path_parameters.update(id=endpoints.pop() if name == "deleteWebhookEndpoint" else chance.choice(endpoints))
    if deliveries and often(case):
        endpoint, delivery, event = chance.choice(deliveries[-20:])
        if name == "getDelivery":
            case.path_parameters.update(id=endpoint, delivery_id=delivery)
        if name == "getEvent":
            case.path_parameters.update(event_id=event)
    if name == "getReplay" and replays and often(case):
        # The endpoints of the others may have been deleted.
        endpoint, replay = chance.choice([replays[0], chance.choice(replays[-20:])])
        case.path_parameters.update(id=endpoint, replay_id=replay)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 201:
        made = response.json()
        if "uuid" in made:
            endpoints.append(made["uuid"])
        if case.operation.definition.raw.get("operationId") == "createMerchant" and made["merchant_id"] != MERCHANT:
            made_merchants.append(made["merchant_id"])
        if "key" in made and case.path_parameters.get("merchant_id") == MERCHANT:
            made_keys.append(made["api_key_uuid"])
        if "portal_session_uuid" in made:
            sessions.append(made["portal_session_uuid"])
            links.append(made["url"].split("#link=")[1])
    if response.status_code not in (200, 202):
        return
    page = response.json() if "json" in "".join(response.headers.get("content-type", [])) else {}
    if "next_cursor" in page:
        cursors[case.path] = page["next_cursor"]
    for item in page.get("data", []):
        if "delivery_uuid" in item:
            deliveries.append((item["endpoint_uuid"], item["delivery_uuid"], item["event_uuid"]))
    if "replay_uuid" in page and "id" not in (case.path_parameters or {}):
        made_replays.append(page["replay_uuid"])
    elif "replay_uuid" in page:
        replays.append((case.path_parameters["id"], page["replay_uuid"]))
