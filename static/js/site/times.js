// Pages say points in time in UTC. Those with an hour also get the time of the reader's own clock, where it differs;
// all of them say it in full when they are pointed at.

const FULL = { dateStyle: "full", timeStyle: "long" };
const SHORT = { day: "numeric", month: "short", hour: "numeric", minute: "2-digit", timeZoneName: "short" };

/** Write the local time beside every time of the page that has none yet. */
export function addLocalTimes() {
  for (const element of document.querySelectorAll("time[datetime*=T]:not([data-local])")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    element.dataset.local = "";
    element.title = moment.toLocaleString(undefined, FULL);
    if (!moment.getTimezoneOffset() || !/\d:\d\d/.test(element.textContent)) continue;
    const local = document.createElement("span");
    local.className = "soft";
    local.textContent = ` (${moment.toLocaleString(undefined, SHORT)})`;
    element.append(local);
  }
}
