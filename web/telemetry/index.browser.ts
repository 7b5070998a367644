export { culvertOptions } from "./options/browser.js";
