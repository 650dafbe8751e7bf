"""The payload format (docs/payload-format.md) in another language: decodes the test vectors, and encodes one payload.

Needs `cryptography`; everything else is Python's own. Reads a JSON request from stdin, writes a JSON answer to stdout.
A payload is {"metadata": {name: base64}, "data": base64}, as `temporal workflow show --output json` prints it.
"""

import base64
import hashlib
import json
import os
import sys
import zlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ENCODING = b"binary/encrypted-cj1"
MAX_INNER_BYTES = 16 * 1024 * 1024


class Refused(Exception):
    """The payload is not what somebody with the key encrypted for an allowed namespace."""


def bound_to(key_id: bytes, namespace: bytes) -> bytes:
    return b"\0".join([ENCODING, key_id, namespace])


def decode(payload: dict, keys: dict, allowed: list, dictionary: bytes) -> dict:
    metadata = {name: base64.b64decode(value) for name, value in payload["metadata"].items()}
    data = base64.b64decode(payload.get("data", ""))
    if metadata.get("encoding") != ENCODING or "key-id" not in metadata or "namespace" not in metadata:
        raise Refused("malformed")
    if len(data) < 4 + 12 + 1 + 16:
        raise Refused("malformed")
    bound = bound_to(metadata["key-id"], metadata["namespace"])
    if data[:4] != hashlib.sha256(bound).digest()[:4]:
        raise Refused("tampered")
    if metadata["namespace"].decode() not in allowed:
        raise Refused("foreignNamespace")
    key = keys.get(metadata["key-id"].decode())
    if key is None:
        raise LookupError("unknown key: ask for it and try again")
    try:
        plaintext = AESGCM(base64.b64decode(key)).decrypt(data[4:16], data[16:], bound)
    except InvalidTag:
        raise Refused("tampered") from None
    return parse_payload(unpack(plaintext, dictionary))


def unpack(plaintext: bytes, dictionary: bytes) -> bytes:
    method, body = plaintext[0], plaintext[1:]
    if method == 0:
        return body
    if method == 1:
        inflater = zlib.decompressobj(wbits=-15, zdict=dictionary)
        inner = inflater.decompress(body, MAX_INNER_BYTES)
        if inflater.eof:
            return inner
    raise Refused("malformed")


def encode(value, key_id: str, key: str, namespace: str, dictionary: bytes) -> dict:
    inner = serialise_payload({"encoding": b"json/plain"}, json.dumps(value).encode())
    deflater = zlib.compressobj(wbits=-15, zdict=dictionary)
    deflated = deflater.compress(inner) + deflater.flush()
    plaintext = b"\1" + deflated if len(deflated) < len(inner) else b"\0" + inner
    bound = bound_to(key_id.encode(), namespace.encode())
    nonce = os.urandom(12)
    sealed = AESGCM(base64.b64decode(key)).encrypt(nonce, plaintext, bound)
    metadata = {"encoding": ENCODING, "key-id": key_id.encode(), "namespace": namespace.encode()}
    return printable(metadata, hashlib.sha256(bound).digest()[:4] + nonce + sealed)


# temporal.api.common.v1.Payload: map<string, bytes> metadata = 1; bytes data = 2. A program that has the Temporal SDK
# has this class, and needs none of what follows.


def fields(message: bytes):
    """The fields of a protobuf message that has length-delimited ones only."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        if tag & 7 != 2:
            raise Refused("malformed")
        length, at = varint(message, at)
        yield tag >> 3, message[at : at + length]
        at += length


def varint(message: bytes, at: int):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def parse_payload(message: bytes) -> dict:
    metadata, data = {}, b""
    for number, content in fields(message):
        if number == 1:
            entry = dict(fields(content))
            metadata[entry[1].decode()] = entry.get(2, b"")
        elif number == 2:
            data = content
    return printable(metadata, data)


def serialise_payload(metadata: dict, data: bytes) -> bytes:
    entries = [delimited(1, delimited(1, name.encode()) + delimited(2, value)) for name, value in metadata.items()]
    return b"".join(entries) + delimited(2, data)


def delimited(number: int, content: bytes) -> bytes:
    length, digits = len(content), b""
    while length >= 0x80:
        digits += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([number << 3 | 2]) + digits + bytes([length]) + content


def printable(metadata: dict, data: bytes) -> dict:
    return {
        "metadata": {name: base64.b64encode(value).decode() for name, value in metadata.items()},
        "data": base64.b64encode(data).decode(),
    }


def outcome(payload: dict, request: dict, dictionary: bytes) -> dict:
    try:
        return {"payload": decode(payload, request["keys"], request["allowedNamespaces"], dictionary)}
    except Refused as refusal:
        return {"refused": str(refusal)}


def main() -> None:
    request = json.load(sys.stdin)
    dictionary = request["dictionary"].encode()
    if "value" in request:
        key = request["keys"][request["keyId"]]
        answer = encode(request["value"], request["keyId"], key, request["namespace"], dictionary)
    else:
        answer = [outcome(payload, request, dictionary) for payload in request["payloads"]]
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
