# WEBHOOK_SECRET=whsec_… PORT=8000 python3 receiver.py   (Python 3.9; then: hookrail sim listen --forward-to 8000)
# WEBHOOK_KEYS=https://…/.well-known/webhook-keys as well, or a file of it: the signature v1a must be right, too (package cryptography).
import base64, contextlib, hashlib, hmac, json, os, re, sqlite3, tempfile, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secrets = os.environ["WEBHOOK_SECRET"].split()  # while a secret is rotated: "whsec_new… whsec_old…"
keys = [base64.b64decode(each[len("whsec_"):]) if each.startswith("whsec_") else each.encode() for each in secrets]
if not keys:
    raise SystemExit("WEBHOOK_SECRET is not set")
# In production: a table of your own database. A file of WEBHOOK_DB outlives a restart.
path = os.environ.get("WEBHOOK_DB") or os.path.join(tempfile.gettempdir(), "webhooks-python.db")
BODY_MAX = 1 << 20
place, lock, public = os.environ.get("WEBHOOK_KEYS"), threading.Lock(), {"at": float("-inf"), "keys": []}
if place:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
noted = set()

def execute(statement, *values):
    with contextlib.closing(sqlite3.connect(path, timeout=5)) as database, database:
        return database.execute(statement, values).rowcount

def is_first(id):  # a webhook may come more than once
    return execute("INSERT INTO webhooks (id) VALUES (?) ON CONFLICT DO NOTHING", id) == 1

def is_latest(about, sequence):  # a newer one may have come first: then do not apply this one
    return execute("INSERT INTO latest (about, sequence) VALUES (?, ?) ON CONFLICT (about) DO UPDATE"
                   " SET sequence = excluded.sequence WHERE excluded.sequence >= latest.sequence", about, sequence) == 1

def read_keys():
    with urllib.request.urlopen(place, timeout=5) if place.startswith("http") else open(place, "rb") as source:
        keys = [each["x"] for each in json.load(source)["keys"] if each.get("crv") == "Ed25519"]
    return [Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(each + "=")) for each in keys]

def public_keys(seconds_max):
    with lock:
        if time.monotonic() - public["at"] > seconds_max:
            public["at"] = time.monotonic()
            with contextlib.suppress(OSError, ValueError, KeyError):  # unreachable: those that are known
                public["keys"] = read_keys()
        return public["keys"]

def is_of_platform(message, signatures):  # no key fits: perhaps there is a new one, looked for at most once a minute
    for key in (each for seconds_max in (300, 60) for each in public_keys(seconds_max)):
        for each in signatures:
            with contextlib.suppress(InvalidSignature, ValueError):
                if each.startswith("v1a,"):
                    key.verify(base64.b64decode(each[4:]), message)
                    return True
    return False

def note_authorization(value):
    if noted or value in [f"API-Key {each}" for each in secrets]:
        return
    noted.add(value)  # The signature proves more than Authorization, which some servers keep to themselves.
    print("another" if value else "no", "Authorization arrived; the signature is enough. To get it: Apache",
          '"CGIPassAuth On", nginx "proxy_set_header Authorization $http_authorization"',
          '(uwsgi_param, fastcgi_param HTTP_AUTHORIZATION), API gateways: forward the header Authorization.', flush=True)

class Receiver(BaseHTTPRequestHandler):
    def read_body(self):
        if "chunked" not in self.headers.get("transfer-encoding", "").lower():
            return self.rfile.read(min(int(self.headers.get("content-length") or 0), BODY_MAX))
        body = b""
        while (size := int(self.rfile.readline(80).split(b";")[0], 16)) > 0 and len(body) + size <= BODY_MAX:
            body += self.rfile.read(size)
            self.rfile.readline(80)
        while size == 0 and self.rfile.readline(8192).strip():  # fields after the last chunk
            pass
        return body

    def do_POST(self):
        body, header = self.read_body(), lambda name: self.headers.get(name, "")
        id, sent = header("webhook-id"), header("webhook-timestamp")
        message = f"{id}.{sent}.".encode("latin-1") + body
        signatures = header("webhook-signature").split()
        right = [b"v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()) for key in keys]
        signed = any(hmac.compare_digest(each.encode("latin-1"), signature)
                     for each in signatures for signature in right)
        signed = signed and (not place or is_of_platform(message, signatures))
        fresh = bool(re.fullmatch(r"\d{1,11}", sent)) and abs(time.time() - int(sent)) < 300
        type, result = None, "refused"
        if signed and fresh:  # before the answer: what cannot be kept must come again
            type, sequence = json.loads(body)["type"], header("webhook-sequence")
            about = f"{type} {header('webhook-subject-id')}"
            result = ("repeated" if not is_first(id) else
                      "older" if sequence.isdecimal() and not is_latest(about, int(sequence)) else "applied")
        self.send_response(200 if signed and fresh else 401)
        self.send_header("webhook-result", result)
        self.end_headers()  # answer first, work afterwards
        if not signed or not fresh:
            return print("refused", id, "too old" if signed else "another secret or key, or a changed body", flush=True)
        note_authorization(header("authorization"))
        if result in ("applied", "older"):
            print("received" if result == "applied" else "older", id, type, flush=True)

execute("CREATE TABLE IF NOT EXISTS webhooks (id TEXT PRIMARY KEY)")
execute("CREATE TABLE IF NOT EXISTS latest (about TEXT PRIMARY KEY, sequence INTEGER NOT NULL)")
print("listening on port", os.environ["PORT"], flush=True)
ThreadingHTTPServer(("", int(os.environ["PORT"])), Receiver).serve_forever()
