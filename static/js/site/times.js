// Pages say points in time in UTC. Those with an hour also get the time of the reader's own clock, where it differs;
// all of them say it in full when they are pointed at.

const FULL = { dateStyle: "full", timeStyle: "long" };
const SHORT = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };

/** The reader's own form of the language of the page, such as en-GB of en; else that language. */
function locale() {
  const language = document.documentElement.lang;
  return navigator.languages.find((own) => own.split("-")[0] === language.split("-")[0]) ?? language;
}

/** The form in which pages write dates: the day before the month in English, too. */
const written = () => (document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang);

/** Write the local time beside every time of the page that has none yet. */
export function addLocalTimes() {
  for (const element of document.querySelectorAll("time[datetime*=T]:not([data-local])")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    element.dataset.local = "";
    element.title = moment.toLocaleString(locale(), FULL);
    if (!moment.getTimezoneOffset() || !/\d:\d\d/.test(element.textContent)) continue;
    const local = document.createElement("span");
    local.className = "soft";
    local.textContent = ` (${moment.toLocaleString(written(), SHORT)})`;
    element.append(local);
  }
}
