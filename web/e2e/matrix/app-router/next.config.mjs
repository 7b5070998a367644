/** @type {import('next').NextConfig} */
export default {
  output: "standalone",
  basePath: "/shop",
  cacheComponents: true,
  partialPrefetching: true,
};
