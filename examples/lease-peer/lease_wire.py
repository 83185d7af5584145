"""The wire format of docs/lease-wire-format.md: names of objects, records, and the four requests."""

import datetime
import hashlib
import http.client
import json
import math
import time
import uuid
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlencode, urlsplit

LITERAL = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~@:=+,-")
LONGEST_LAST_PART = 512
LARGEST_RECORD = 65_536
LARGEST_WHOLE = 2**53 - 1


class Failed(Exception):
    """The request failed, or was not answered: a write may have been applied, or may be applied later."""

    def __init__(self, why, throttled=False):
        super().__init__(why)
        self.throttled = throttled


class Unreadable(Exception):
    """What is stored is no record. It counts as held, and a person has to look at it."""


def object_name(prefix, lock_id):
    escaped = "".join(map(_escaped, lock_id))
    if len(escaped) + len(".json") > LONGEST_LAST_PART:
        escaped = "%long-" + hashlib.sha256(escaped.encode("ascii")).hexdigest()
    return f"{prefix}{escaped}.json"


def _escaped(character):
    if character in LITERAL:
        return character
    if 0xD800 <= ord(character) <= 0xDFFF:
        return f"%u{ord(character):04X}"
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8"))


def next_fence(record_fence, seen_fence, service_ms):
    return max(record_fence, seen_fence, service_ms) + 1


def parse_record(text, place):
    """The record with every field that is known, in the order of the page; without `ttlMs`: another implementation's."""

    def unreadable(flaw):
        raise Unreadable(f"{place} is not a lease record ({flaw}): look at it, remove it when nobody holds this lock")

    def not_json(_):
        raise ValueError

    try:
        found = json.loads(text, parse_constant=not_json)
    except ValueError:
        unreadable("it is not JSON")
    if not isinstance(found, dict):
        unreadable("it is not a JSON object")

    def optional(name, check):
        value = found.get(name)
        if value is None:
            return None
        checked = check(value)
        return unreadable(f"{name} is malformed") if checked is None else checked

    def required(name, check):
        value = optional(name, check)
        return unreadable(f"{name} is missing") if value is None else value

    if "ownerId" not in found:
        unreadable("ownerId is missing")
    record = {
        "ownerId": optional("ownerId", _text),
        "expiresAt": optional("expiresAt", _number),
        "waitingOwnerId": optional("waitingOwnerId", _text),
        "waiterExpiresAt": optional("waiterExpiresAt", _number),
    }
    ttl_ms = optional("ttlMs", lambda value: _whole(value, math.ceil) or None)
    if ttl_ms is None:
        if record["ownerId"] is not None and record["expiresAt"] is None:
            unreadable("expiresAt and ttlMs are missing")
        return {**record, "expiresAt": record["expiresAt"] or 0}
    return {
        **record,
        "ttlMs": ttl_ms,
        "renewSeq": required("renewSeq", _whole),
        "fence": required("fence", _whole),
        "ownerAgeMs": optional("ownerAgeMs", lambda value: _whole(value, lambda age: max(0, math.floor(age)))) or 0,
        "holder": _holder(found.get("holder")),
        **_behind(found.get("waitingBehind")),
        **_permits(found.get("permits")),
    }


def _behind(value):
    is_line = isinstance(value, list) and value != [] and all(_text(name) for name in value)
    return {"waitingBehind": value} if is_line else {}


def _permits(value):
    number = _whole(value)
    return {} if number is None else {"permits": number}


def _text(value):
    return value if isinstance(value, str) and value != "" else None


def _number(value):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def _whole(value, rounded=lambda given: given):
    number = _number(value)
    if number is None:
        return None
    number = rounded(number)
    return int(number) if number == int(number) and 0 <= number <= LARGEST_WHOLE else None


def _holder(value):
    if not isinstance(value, dict):
        return None
    holder = {
        "host": _text(value.get("host")),
        "pid": _whole(value.get("pid")),
        "operation": _text(value.get("operation")),
        "since": _number(value.get("since")),
    }
    return None if None in (holder["host"], holder["pid"], holder["since"]) else holder


class Bucket:
    """The records of one bucket and prefix. Each request is sent once, on a connection of its own."""

    def __init__(self, endpoint, bucket, prefix, timeout_s=5.0, token=None):
        self.address, self.bucket, self.timeout_s, self.token = urlsplit(endpoint), bucket, timeout_s, token
        self.prefix = prefix if prefix in ("",) or prefix.endswith("/") else f"{prefix}/"
        self.bucket_seen = False
        self._ahead_ms = None

    def service_ms(self):
        """The service's clock now, at the latest; our own before its first answer."""
        ahead_ms = time.time() * 1000 - now_ms() if self._ahead_ms is None else self._ahead_ms
        return math.floor(now_ms() + ahead_ms)

    def place(self, lock_id):
        return f"gs://{self.bucket}/{object_name(self.prefix, lock_id)}"

    def read(self, lock_id):
        """`(record, version)`, or None where there is certainly none."""
        status, headers, content = self._send("GET", self._path(lock_id), {"alt": "media"})
        if status == 404:
            self._make_sure_of_bucket()
            return None
        if status != 200:
            raise Failed(f"{self.place(lock_id)}: {status}")
        version, length = headers.get("x-goog-generation"), headers.get("x-goog-stored-content-length")
        if version is None or (length is not None and int(length) != len(content)):
            raise Failed(f"{self.place(lock_id)}: that is not the whole answer of the service")
        self.bucket_seen = True
        if len(content) > LARGEST_RECORD:
            raise Unreadable(f"{self.place(lock_id)} is not a lease record (it has {len(content)} bytes)")
        return parse_record(content.decode("utf-8", "replace"), self.place(lock_id)), version

    def age_ms(self, lock_id, version):
        """How long ago this version was written, by the service's clock; None if it is not the live one any more."""
        status, headers, content = self._send("GET", self._path(lock_id), {"ifGenerationMatch": version})
        if status in (304, 404, 412):
            return None
        written = _json(status, content).get("timeCreated")
        if written is None or headers.get("date") is None:
            raise Failed("the answer has no usable time")
        since = parsedate_to_datetime(headers["date"]).timestamp() - _timestamp(written)
        return max(0, math.floor(since * 1000))

    def write(self, lock_id, record, version):
        """The new version, or None where the live one is not `version` (0: where there is a record)."""
        boundary = uuid.uuid4().hex
        facts = json.dumps({"contentType": "application/json", "cacheControl": "no-store"})
        parts = [f"--{boundary}\r\nContent-Type: application/json\r\n\r\n{part}\r\n" for part in (facts, json.dumps(record))]
        status, _, content = self._send(
            "POST",
            f"/upload/storage/v1/b/{quote(self.bucket, safe='')}/o",
            {"uploadType": "multipart", "name": object_name(self.prefix, lock_id), "ifGenerationMatch": version},
            ("".join(parts) + f"--{boundary}--").encode("utf-8"),
            {"Content-Type": f"multipart/related; boundary={boundary}"},
        )
        if status == 412:
            return None
        generation = _json(status, content).get("generation")
        if generation is None:
            raise Failed("the answer names no generation")
        return generation

    def _make_sure_of_bucket(self):
        if self.bucket_seen:
            return
        status, _, _ = self._send("GET", f"/storage/v1/b/{quote(self.bucket, safe='')}/o", {"maxResults": 1})
        if status != 200:
            raise Failed(f"gs://{self.bucket} is not there, or not open to us: {status}")
        self.bucket_seen = True

    def _path(self, lock_id):
        name = quote(object_name(self.prefix, lock_id), safe="")
        return f"/storage/v1/b/{quote(self.bucket, safe='')}/o/{name}"

    def _send(self, method, path, query, body=None, headers=None):
        secure = self.address.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(self.address.netloc, timeout=self.timeout_s)
        sent_ms = now_ms()
        try:
            permit = {} if self.token is None else {"Authorization": f"Bearer {self.token()}"}
            connection.request(method, f"{path}?{urlencode(query)}", body, {**(headers or {}), **permit})
            answer = connection.getresponse()
            content, found = answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        except (OSError, http.client.HTTPException) as error:
            raise Failed(f"{method} {path}: {error!r}") from error
        finally:
            connection.close()
        if answer.status == 429:
            raise Failed("the service asks for fewer changes", throttled=True)
        if "date" in found:
            told_ms = parsedate_to_datetime(found["date"]).timestamp() * 1000
            self._ahead_ms = told_ms + 1000 - sent_ms
        return answer.status, found, content


def _json(status, content):
    if status >= 300:
        raise Failed(f"refused with {status}")
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Failed("that is no answer of the service")
    return found


def _timestamp(rfc3339):
    return datetime.datetime.fromisoformat(rfc3339.replace("Z", "+00:00")).timestamp()


def now_ms():
    return time.monotonic() * 1000
