"use client";

import { useEffect } from "react";
import { getActiveSpan, getRootSpan } from "#sdk";
import { NOT_FOUND } from "../filter/event-filters.js";

/** Marks the trace of this page view as not found, so that it is not sent. */
export function NotFoundTrace() {
  useEffect(() => {
    const span = getActiveSpan();
    if (span) getRootSpan(span).setAttribute(NOT_FOUND, true);
  }, []);
  return null;
}
