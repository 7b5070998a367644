import { init, makeFetchTransport } from "@sentry/nextjs";
import { noteDocument } from "./errors/error-boundary";
import { noteDocumentRequest } from "./errors/request-id";
import { scrubbingTransport, scrubTraceNames } from "./filter/scrub-envelopes";
import { browserOptions } from "./options";
import { queueNote, withOfflineQueue } from "./send/offline-queue";
import { recordingOutcomes } from "./send/recording-transport";
import { readPublicSettings } from "./settings/public-settings";

/** Starts the browser's SDK with the settings in the page's `<meta>`; without them it starts nothing. */
export function startTelemetry(): void {
  noteDocument(document);
  noteDocumentRequest(document);
  const settings = readPublicSettings(document);
  if (!settings) return;
  const transport = scrubbingTransport(withOfflineQueue(recordingOutcomes(makeFetchTransport, queueNote)));
  scrubTraceNames(init({ ...browserOptions(settings), transport }));
}
