"""Counts as gcs-counting-child.ts does, with the peer of examples/lease-peer; talks to its parent in lines of JSON."""

import json
import os
import sys

given = json.loads(os.environ["LEASE_PEER_CHILD"])
sys.path.insert(0, given["peer"])

from lease_peer import Lock  # noqa: E402
from lease_wire import Bucket  # noqa: E402


def ask(question):
    print(json.dumps(question), flush=True)
    return json.loads(sys.stdin.readline())


lock = Lock(Bucket(given["endpoint"], given["bucket"], given["prefix"], timeout_s=1.0), "counter", **given["times"])
while True:
    tenure = lock.acquire(timeout_s=60)
    if tenure is None:
        continue
    token = str(tenure.fence)
    value = ask({"do": "read", "token": token})
    ask({"do": "write", "token": token, "value": value + 1, "held": tenure.is_held()})
    tenure.release()
