export function getServerSideProps() {
  throw new Error("broken on purpose");
}

export default function Broken() {
  return null;
}
