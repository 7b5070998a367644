"use client";

export { ErrorPage as default } from "@culvert/nextjs/errors";
