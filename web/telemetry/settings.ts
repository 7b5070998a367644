export { parseAddress } from "./settings/setting-values.js";
export { parseSettings, SettingError, type Settings, settings } from "./settings/settings.js";
