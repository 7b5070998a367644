export { parseSettings, SettingError, type Settings, settings } from "./settings/settings.js";
