"""Adds checks to Schemathesis, and writes a sentinel text into request bodies, which no answer may repeat."""

import json
import zlib

import schemathesis
from schemathesis.generation import GenerationMode

# The blanks make it an invalid id, since answers may repeat ids.
SENTINEL = "QZ SENTINEL QZ"


def places(value):
    """Yields the container and the key of each text in `value`."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(members):
        if isinstance(inner, str):
            yield value, key
        else:
            yield from places(inner)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts the sentinel into two of three valid bodies, at a position that depends on the body alone."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    found = list(places(case.body))
    drawn = zlib.crc32(json.dumps(case.body, sort_keys=True, default=str).encode()) if found else 0
    if drawn % 3 > 0:
        container, key = found[drawn // 3 % len(found)]
        container[key] = SENTINEL


@schemathesis.check
def nothing_repeated(context, response, case):
    told = ("/v1/audit/", "/v1/pauses", "/v1/legal-holds")
    if response.status_code == 200 and (case.path.startswith(told) or case.path.endswith("/story")):
        return  # These tell what people wrote: reasons, and the evidence of consents.
    said = response.text + str(response.headers)
    assert SENTINEL not in said, "the answer repeats what the body said"


@schemathesis.check
def problem_document(context, response, case):
    if response.status_code < 400:
        return
    assert response.headers["content-type"][0].startswith("application/problem+json"), "an error that is no problem document"
    problem = response.json()
    assert problem["status"] == response.status_code, "another status in the document"
    assert problem["type"] == f"/v1/reference#problem-{problem['code']}", "a type that is not of the code"
    assert [problem["requestId"]] == response.headers["x-request-id"], "another request id in the header"
