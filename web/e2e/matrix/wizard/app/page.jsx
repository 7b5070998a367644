export default function Page() {
  return <h1>A foreign app</h1>;
}
