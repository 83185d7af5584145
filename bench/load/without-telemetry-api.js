// Loaded into a server before it starts (`node -r`): instead of OpenTelemetry's API there is a module that does nothing, for
// those who load it without tracing anything.
const Module = require("node:module");

const nothing = {
  context: { active: () => undefined },
  propagation: { fields: () => [] },
  trace: { getSpan: () => undefined, getActiveSpan: () => undefined, getSpanContext: () => undefined },
  SpanKind: {},
  SpanStatusCode: {},
  TraceFlags: {},
};
const load = Module._load;
Module._load = function (request, ...rest) {
  return request === "@opentelemetry/api" ? nothing : load.call(this, request, ...rest);
};
