import Counter from "counter";
import { cacheLife } from "next/cache";
import Image from "next/image";
import photo from "../photo.png";

export default async function Revalidated() {
  "use cache";
  cacheLife({ stale: 30, revalidate: 1, expire: 3600 });
  return (
    <main>
      <h1>Revalidated</h1>
      <p id="made">{Date.now()}</p>
      <Counter />
      <Image src={photo} alt="Waves" priority />
    </main>
  );
}
