import type { Span } from "@opentelemetry/api";
import { spanToJSON } from "@sentry/nextjs";

/** What a span says of itself. */
export type SpanFields = {
  name: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, unknown>;
};

type EitherLine = {
  span_id: string;
  parent_span_id?: string;
  description?: string;
  data?: Record<string, unknown>;
  name?: string;
  attributes?: Record<string, unknown>;
};

/** Takes a span and returns its fields. Version 10 of the SDK calls them `description` and `data`, 11 `name` and `attributes`. */
export function spanFields(span: Span): SpanFields {
  const json = spanToJSON(span as Parameters<typeof spanToJSON>[0]) as EitherLine;
  return {
    name: json.name ?? json.description ?? "",
    spanId: json.span_id,
    parentSpanId: json.parent_span_id,
    attributes: json.attributes ?? json.data ?? {},
  };
}
