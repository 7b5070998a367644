"use client";

export default function Styled() {
  return (
    <p id="styled">
      Styled
      <style jsx>{`
        p {
          color: rgb(4, 5, 6);
        }
      `}</style>
    </p>
  );
}
