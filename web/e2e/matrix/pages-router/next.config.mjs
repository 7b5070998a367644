/** @type {import('next').NextConfig} */
export default {
  output: "standalone",
  trailingSlash: true,
  i18n: { locales: ["en", "de"], defaultLocale: "en" },
};
