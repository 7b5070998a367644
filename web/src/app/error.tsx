"use client";

export { ErrorNotice as default } from "../ui/error-notice";
