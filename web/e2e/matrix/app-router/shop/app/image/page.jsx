import Image from "next/image";
import photo from "../photo.png";

export default function Resized() {
  return <Image src={photo} alt="Waves" priority />;
}
