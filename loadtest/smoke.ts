import { suite } from "./suite/suite.ts";

const { options, setup, iteration, handleSummary } = suite("smoke");

export { handleSummary, options, setup };
export default iteration;
