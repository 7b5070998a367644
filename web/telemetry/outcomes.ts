export { noSendOutcomes, type SendOutcome, sendOutcomes, subscribe } from "./send/send-outcomes.js";
