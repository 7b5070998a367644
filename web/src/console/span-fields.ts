import { type Span, spanToJSON } from "@sentry/nextjs";

/** The fields of a span, by the names of SDK version 11. */
export type SpanFields = {
  name: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, unknown>;
};

type SpanJson = {
  span_id: string;
  parent_span_id?: string;
  description?: string;
  data?: Record<string, unknown>;
  name?: string;
  attributes?: Record<string, unknown>;
};

/** Takes a span and returns its fields. The SDK names two of them differently: `description` and `data` in version 10, `name` and `attributes` in 11. */
export function spanFields(span: Span): SpanFields {
  const json = spanToJSON(span) as SpanJson;
  return {
    name: json.name ?? json.description ?? "",
    spanId: json.span_id,
    parentSpanId: json.parent_span_id,
    attributes: json.attributes ?? json.data ?? {},
  };
}
