export { describeRateLimits } from "./send/recording-transport.js";
export { noSendOutcomes, type SendOutcome, sendOutcomes, subscribe } from "./send/send-outcomes.js";
