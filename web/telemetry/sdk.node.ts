// For Node itself (a test runner, a script): it finds only some of the names that the SDK's CommonJS build exports.
import * as sdk from "@sentry/nextjs";

const { default: commonJs = sdk } = sdk as typeof sdk & { default?: typeof sdk };

export const captureEvent: typeof sdk.captureEvent = commonJs.captureEvent;
export const captureException: typeof sdk.captureException = commonJs.captureException;
export const captureRequestError: typeof sdk.captureRequestError = commonJs.captureRequestError;
export const captureRouterTransitionStart: typeof sdk.captureRouterTransitionStart =
  commonJs.captureRouterTransitionStart;
export const captureUnderscoreErrorException: typeof sdk.captureUnderscoreErrorException =
  commonJs.captureUnderscoreErrorException;
export const close: typeof sdk.close = commonJs.close;
export const createTransport: typeof sdk.createTransport = commonJs.createTransport;
export const flush: typeof sdk.flush = commonJs.flush;
export const getActiveSpan: typeof sdk.getActiveSpan = commonJs.getActiveSpan;
export const getClient: typeof sdk.getClient = commonJs.getClient;
export const getRootSpan: typeof sdk.getRootSpan = commonJs.getRootSpan;
export const getTraceData: typeof sdk.getTraceData = commonJs.getTraceData;
export const httpIntegration: typeof sdk.httpIntegration = commonJs.httpIntegration;
export const init: typeof sdk.init = commonJs.init;
export const isEnabled: typeof sdk.isEnabled = commonJs.isEnabled;
export const makeBrowserOfflineTransport: typeof sdk.makeBrowserOfflineTransport = commonJs.makeBrowserOfflineTransport;
export const makeFetchTransport: typeof sdk.makeFetchTransport = commonJs.makeFetchTransport;
export const makeNodeTransport: typeof sdk.makeNodeTransport = commonJs.makeNodeTransport;
export const suppressTracing: typeof sdk.suppressTracing = commonJs.suppressTracing;
