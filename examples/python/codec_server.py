"""The codec server, for a program that has a token and no key. Needs the Temporal SDK and the standard library."""

import asyncio
import dataclasses
import json
import urllib.request

from google.protobuf import json_format
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadCodec


class CodecServer(PayloadCodec):
    """Encrypts and decrypts payloads. What it refuses is raised, and nothing is sent in the clear."""

    def __init__(self, url: str, namespace: str, token_file: str) -> None:
        self._url, self._namespace, self._token_file = url.rstrip("/"), namespace, token_file
        # The standard library would send a token by whatever proxy the environment names.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    async def encode(self, payloads):
        return await self._convert("/encode", payloads)

    async def decode(self, payloads):
        return await self._convert("/decode", payloads)

    def data_converter(self) -> DataConverter:
        return dataclasses.replace(
            DataConverter.default,
            payload_codec=self,
            # Messages of failures are encrypted as well.
            failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
        )

    async def _convert(self, route: str, payloads):
        if not payloads:
            return []
        # The protocol is the protobuf JSON of a list of payloads.
        body = {"payloads": [json_format.MessageToDict(payload) for payload in payloads]}
        answer = await asyncio.to_thread(self._ask, route, body)
        return [json_format.ParseDict(payload, Payload()) for payload in answer["payloads"]]

    def _ask(self, route: str, body):
        # Read at each call: a token is renewed in its file.
        with open(self._token_file, encoding="utf-8") as file:
            token = file.read().strip()
        request = urllib.request.Request(
            self._url + route,
            data=json.dumps(body).encode(),
            headers={
                "authorization": f"Bearer {token}",
                "content-type": "application/json",
                "x-namespace": self._namespace,
            },
        )
        with self._opener.open(request, timeout=20) as answer:
            return json.load(answer)
