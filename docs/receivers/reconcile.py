# HOOKRAIL_BASE_URL=… HOOKRAIL_API_KEY=sk_… python3 reconcile.py received.txt   (Python 3.9)
# received.txt: the webhook-id of everything received, one a line. Prints what is missing, and remembers where it was.
import json, os, sys, time, urllib.error, urllib.parse, urllib.request

url, file = os.environ["HOOKRAIL_BASE_URL"], os.environ.get("RECONCILE_STATE", "reconcile.state")
headers = {"authorization": "API-Key " + os.environ["HOOKRAIL_API_KEY"]}
with open(sys.argv[1]) as lines:
    received = set(lines.read().split())
# The cursor, then the events that were missing so far: one may be on its way, and arrive before the next run.
cursor, *missing = open(file).read().split() if os.path.exists(file) else [""]
more = True
while more:
    query = urllib.parse.urlencode({"order": "asc", "limit": 500, **({"cursor": cursor} if cursor else {})})
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{url}/merchant/events?{query}", headers=headers)) as answer:
            page = json.load(answer)
    except urllib.error.HTTPError as refused:
        if "retry-after" not in refused.headers:
            raise
        time.sleep(int(refused.headers["retry-after"]))  # too many requests, or not available now
        continue
    if page["gap"]:
        print("gap", page["gap"])  # older events are no longer in the feed
    missing += [event["event_uuid"] for event in page["data"] if any(each["verdict"] == "routed" for each in event["endpoints"])]
    cursor, more = page["next_cursor"], page["has_more"]
    missing = [id for id in missing if id not in received]
    with open(file + ".new", "w") as state:
        state.write("\n".join([cursor, *missing, ""]))
    os.replace(file + ".new", file)  # both at once: a run that is killed is repeated from the page before
for id in missing:
    print("missing", id)
