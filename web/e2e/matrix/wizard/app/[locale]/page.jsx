import { getTranslations, setRequestLocale } from "next-intl/server";
import { Link } from "../../i18n/navigation";

export default async function Page({ params }) {
  const { locale } = await params;
  setRequestLocale(locale);
  const t = await getTranslations("Home");
  return (
    <main>
      <h1>{t("title")}</h1>
      <Link href="/" locale={locale === "en" ? "de" : "en"}>
        {t("other")}
      </Link>
    </main>
  );
}
