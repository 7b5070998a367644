import { init, makeFetchTransport } from "@sentry/nextjs";
import { keptHere, patient } from "./offline";
import { browserOptions } from "./options";
import { readPublicSettings } from "./public-settings";
import { noteDocument } from "./report";
import { noteDocumentRequest } from "./request-id";
import { watched } from "./transport";

/** Starts the browser's telemetry with the settings that its page carries; without any, nothing starts. */
export function startTelemetry(): void {
  noteDocument(document);
  noteDocumentRequest(document);
  const settings = readPublicSettings(document);
  if (settings) init({ ...browserOptions(settings), transport: patient(watched(makeFetchTransport, keptHere)) });
}
