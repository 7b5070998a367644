import { suite } from "./suite/suite.ts";

// k6's entry point for every load profile: PROFILE says which.

const { options, setup, iteration, teardown, handleSummary } = suite(__ENV.PROFILE || "smoke");

export { handleSummary, options, setup, teardown };
export default iteration;
