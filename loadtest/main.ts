import { suite } from "./suite/suite.ts";

// k6's entry point for every load profile: PROFILE says which.

const { options, setup, iteration, browser, teardown, handleSummary } = suite(__ENV.PROFILE || "smoke");

export { browser, handleSummary, options, setup, teardown };
export default iteration;
