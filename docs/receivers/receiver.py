# WEBHOOK_SECRET=whsec_… PORT=8000 python3 receiver.py   (Python 3.9; then: hookrail sim listen --forward-to 8000)
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = os.environ["WEBHOOK_SECRET"]
seen = set()  # in production: a table with a unique column, which outlives a restart

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        id, sent = self.headers.get("webhook-id", ""), self.headers.get("webhook-timestamp", "0")
        mac = hmac.new(base64.b64decode(secret[len("whsec_"):]), f"{id}.{sent}.".encode() + body, hashlib.sha256)
        signature = "v1," + base64.b64encode(mac.digest()).decode()
        equal = lambda name, value: hmac.compare_digest(self.headers.get(name, "").encode(), value.encode())
        authentic = equal("webhook-signature", signature) and equal("authorization", f"API-Key {secret}")
        fresh = abs(time.time() - int(sent)) < 300
        accepted = authentic and fresh
        self.send_response(200 if accepted else 401)
        self.end_headers()  # answer first, work afterwards
        if not accepted:
            print("refused", id, "another secret" if fresh else "too old", flush=True)
        elif id not in seen:  # a webhook may come more than once
            seen.add(id)
            print("received", id, json.loads(body)["type"], flush=True)

print("listening on port", os.environ["PORT"], flush=True)
ThreadingHTTPServer(("", int(os.environ["PORT"])), Receiver).serve_forever()
