"""The service described for machines: an OpenAPI 3.1 document, which `/docs` shows and a fuzzer reads."""

from __future__ import annotations

from typing import Any

from adaline import __version__
from adaline.serve.requests import ARROW, CSV, JSON, LONGEST_KEY, Limits
from adaline.serve.security import NAME

BINARY: dict[str, Any] = {"type": "string", "format": "binary"}
CELL = {"type": ["number", "string", "boolean", "null"]}
NUMBER = {"type": ["number", "null"]}
OBJECT = {"type": "object"}
NAMED = {"$ref": "#/components/parameters/Name"}
ERRORS = {
    400: "The request is malformed, or repeats a header.",
    401: "A token is required, or the token is unknown.",
    403: "The token lacks the role, or the model does not learn.",
    404: "There is no such model, version or snapshot.",
    405: "The path does not support this method.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    415: "The Content-Type is not supported.",
    421: "The service accepts requests to localhost only.",
    422: "The rows or options are invalid: `row` and `column` say where.",
    431: "The headers are too long or too many.",
    429: "Too many rows are queued: retry after `Retry-After` seconds.",
    503: "The journal cannot be written, or learning has stopped.",
    507: "The disk is full: no row of the request was learned.",
}


def description(limits: Limits, tokens: bool, names: list[str]) -> dict[str, Any]:
    """Return the OpenAPI document of a service; where there are tokens, it does not tell the names of the models.

    Parameters
    ----------
    limits : of a request.
    tokens : whether the service asks for them.
    names : of the models.

    Examples
    --------
    >>> from adaline.serve import Limits
    >>> from adaline.serve.openapi import description
    >>> description(Limits(), False, ["mass"])["openapi"]
    '3.1.0'
    """
    one = "/models/{name}"
    paths: dict[str, dict[str, Any]] = {
        "/models": {"get": _reading("List the models", "Models", name=False)},
        one: {
            "get": _reading("Describe a model: class, columns, rows seen, certificate, progressive error", "Model"),
            "put": {
                **_changing("Replace a model with a model file", "Replaced"),
                "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": BINARY}}},
            },
        },
        f"{one}/predict": {"post": _predicting()},
        f"{one}/learn": {"post": _learning()},
        f"{one}/file": {"get": _reading("Download the current model file", BINARY, kind="application/octet-stream")},
        f"{one}/history": {"get": _reading("History of the progressive error", "History")},
        f"{one}/snapshots": {"get": _reading("List the snapshots", "Snapshots")},
        f"{one}/rollback": {
            "post": {**_changing("Roll back to a snapshot", "RolledBack"), "requestBody": _in_json("Rollback")}
        },
        f"{one}/promote": {
            "post": {
                **_changing("Replace a model with a challenger", "Promoted"),
                "requestBody": _in_json("Promote"),
            }
        },
        "/metrics": {"get": _reading("Metrics for Prometheus", {"type": "string"}, name=False, kind="text/plain")},
        "/healthz": {"get": _reading("Check that the process runs", "Status", name=False)},
        "/readyz": {"get": _reading("Check that all models can predict and learn", "Status", name=False, unready=True)},
    }
    out: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "adaline",
            "version": __version__,
            "description": f"A request may have up to {limits.body:,} bytes and {limits.rows:,} rows. "
            "Errors are problem details (RFC 9457).",
        },
        "paths": paths,
        "components": {"schemas": _schemas(limits), "parameters": {"Name": _name(None if tokens else names)}},
    }
    if tokens:
        out["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        out["security"] = [{"token": []}]
        for path in ("/healthz", "/readyz"):
            paths[path]["get"]["security"] = []
    return out


def _schemas(limits: Limits) -> dict[str, Any]:
    rows = {
        "type": "array",
        "minItems": 1,
        "maxItems": limits.rows,
        "items": {
            "anyOf": [
                {"type": "object", "additionalProperties": CELL, "maxProperties": limits.columns},
                {"type": "array", "items": CELL, "maxItems": limits.columns},
            ]
        },
        "description": "Objects with the column names as keys, or arrays in the order of the columns.",
    }
    names = {"type": "array", "items": {"type": "string"}}
    numbers = {"type": "array", "items": NUMBER}
    whole = {"type": "integer"}
    label: dict[str, Any] = {"type": ["number", "string", "boolean", "null", "array"]}
    return {
        "Predict": _object(
            {
                "rows": rows,
                "probabilities": {"type": "boolean", "default": False},
                "interval": {"enum": ["confidence", "prediction", None], "default": None},
                "level": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.95},
            },
            ["rows"],
        ),
        "Predictions": {
            "type": "object",
            "required": ["predictions"],
            "properties": {
                "predictions": {"type": "array", "items": label},
                "lower": {"type": "array"},
                "upper": {"type": "array"},
                "probabilities": {"type": "array", "items": {"type": "object", "additionalProperties": NUMBER}},
            },
        },
        "Learn": _object(
            {
                "rows": {
                    **rows,
                    "description": "As for predictions, with the target under its name; in arrays it comes last.",
                },
                "key": {
                    "type": ["string", "null"],
                    "minLength": 1,
                    "maxLength": LONGEST_KEY,
                    "description": "Rows with the same key are learned once, however often they are sent.",
                },
            },
            ["rows"],
        ),
        "Learned": {
            "type": "object",
            "required": ["learned", "rows_seen"],
            "properties": {"learned": whole, "rows_seen": whole, "repeated": {"type": "boolean"}},
        },
        "Model": {
            "type": "object",
            "required": ["name", "system", "rows_seen", "certificate"],
            "properties": {
                "name": {"type": "string"},
                "system": {"type": "string"},
                "rows_seen": {"type": ["integer", "null"]},
                "certificate": {"type": ["object", "null"]},
                "columns": {"type": "array", "items": OBJECT},
                "progressive_error": {"anyOf": [_ref("ProgressiveError"), {"type": "null"}]},
            },
        },
        "ProgressiveError": {
            "type": "object",
            "description": "Mean error of rows, each predicted before it was learned; `loss` is the model's own.",
            "properties": {
                "measure": {"enum": ["mean squared error", "error rate"]},
                "rows": whole,
                **dict.fromkeys(("mean", "recent", "loss", "recent_loss"), NUMBER),
            },
        },
        "Models": _object({"models": names}, ["models"]),
        "History": _object({"rows_seen": numbers, "mean": numbers, "recent": numbers}, ["rows_seen", "mean", "recent"]),
        "Snapshots": _object(
            {"snapshots": {"type": "array", "items": _object({"snapshot": whole, "rows": whole}, ["snapshot"])}},
            ["snapshots"],
        ),
        "Rollback": _object({"snapshot": whole}, ["snapshot"]),
        "RolledBack": _object({"name": {"type": "string"}, "snapshot": whole}, ["name", "snapshot"]),
        "Promote": _object({"challenger": {"type": "string"}}, ["challenger"]),
        "Promoted": _object({"name": {"type": "string"}, "promoted": {"type": "string"}}, ["name", "promoted"]),
        "Replaced": _object({"name": {"type": "string"}, "system": {"type": "string"}}, ["name", "system"]),
        "Status": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}},
        "Problem": {
            "type": "object",
            "required": ["status", "title", "detail"],
            "properties": {
                "status": whole,
                "title": {"type": "string"},
                "detail": {"type": "string"},
                "row": whole,
                "column": {"type": "string"},
            },
        },
    }


def _predicting() -> dict[str, Any]:
    version = _option("version", {"type": "string", "pattern": "^[0-9]{1,9}$"}, "Number of an older version.")
    options = [
        _option("probabilities", {"enum": ["true", "false"]}, "CSV and Arrow: add the probabilities of the classes."),
        _option("interval", {"enum": ["confidence", "prediction"]}, "CSV and Arrow: add the limits of an interval."),
        _option(
            "level",
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "Level of the interval; default 0.95.",
        ),
    ]
    return {
        "summary": "Predict rows; the response has the format of the request",
        "parameters": [NAMED, version, *options],
        "requestBody": _rows_in("Predict"),
        "responses": {
            "200": {
                "description": "One prediction for each row.",
                "content": {
                    JSON: {"schema": _ref("Predictions")},
                    CSV: {"schema": {"type": "string"}},
                    ARROW: {"schema": BINARY},
                },
            },
            **_errors(401, 403, 404, 408, 413, 415, 421, 422, 429),
        },
    }


def _learning() -> dict[str, Any]:
    key = _option("key", {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY}, "CSV and Arrow: the key.")
    return {
        "summary": "Learn rows with their targets; answered once they are on disk",
        "parameters": [NAMED, key],
        "requestBody": _rows_in("Learn"),
        "responses": {
            **_good("Learned"),
            **_errors(401, 403, 404, 408, 413, 415, 421, 422, 429, 503, 507),
        },
    }


def _reading(
    summary: str, schema: str | dict[str, Any], *, name: bool = True, kind: str = JSON, unready: bool = False
) -> dict[str, Any]:
    found = _errors(401, 403, 421, *((404,) if name else ()))
    if unready:
        found["503"] = {"description": "Not ready.", "content": {JSON: {"schema": _ref("Status")}}}
    return {
        "summary": summary,
        "parameters": [NAMED] if name else [],
        "responses": {**_good(schema, kind), **found},
    }


def _changing(summary: str, schema: str) -> dict[str, Any]:
    return {
        "summary": f"{summary} (role admin)",
        "parameters": [NAMED],
        "responses": {**_good(schema), **_errors(401, 403, 404, 408, 413, 415, 421, 422, 429, 503, 507)},
    }


def _rows_in(schema: str) -> dict[str, Any]:
    content = {JSON: {"schema": _ref(schema)}, CSV: {"schema": {"type": "string"}}, ARROW: {"schema": BINARY}}
    return {"required": True, "content": content}


def _in_json(schema: str) -> dict[str, Any]:
    return {"required": True, "content": {JSON: {"schema": _ref(schema)}}}


def _good(schema: str | dict[str, Any], kind: str = JSON) -> dict[str, Any]:
    inside = _ref(schema) if isinstance(schema, str) else schema
    return {"200": {"description": "Success.", "content": {kind: {"schema": inside}}}}


def _errors(*statuses: int) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": _ref("Problem")}}
    return {str(status): {"description": ERRORS[status], "content": content} for status in (400, *statuses, 431)}


def _name(names: list[str] | None) -> dict[str, Any]:
    schema = {"type": "string", "pattern": f"^{NAME.pattern}$"} if names is None else {"enum": names}
    return {"name": "name", "in": "path", "required": True, "schema": schema, "description": "Name of the model."}


def _option(name: str, schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": text}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
