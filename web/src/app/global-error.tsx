"use client";

import "../ui/base.css";

export { GlobalErrorPage as default } from "@culvert/nextjs/errors";
