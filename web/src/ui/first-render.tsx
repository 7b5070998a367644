"use client";

import { useEffect } from "react";
import { firstRenderDone } from "../telemetry/errors/error-boundary";

/** Tells telemetry that React has hydrated the page. */
export function FirstRender() {
  useEffect(firstRenderDone, []);
  return null;
}
