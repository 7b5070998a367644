"use client";

import { getActiveSpan, getRootSpan } from "@sentry/nextjs";
import { useEffect } from "react";
import { NOT_FOUND } from "../telemetry/filter/event-filters";

/** Marks the page view that is being traced as one that found nothing, so that it is never sent. */
export function DropTrace() {
  useEffect(() => {
    const span = getActiveSpan();
    if (span) getRootSpan(span).setAttribute(NOT_FOUND, true);
  }, []);
  return null;
}
