"use client";

import { useEffect } from "react";
import { firstRenderDone } from "../telemetry/report";

/** Tells telemetry that React has taken over the page. */
export function FirstRender() {
  useEffect(firstRenderDone, []);
  return null;
}
