// HOOKRAIL_BASE_URL=… HOOKRAIL_API_KEY=sk_… go run reconcile.go received.txt   (Go 1.20)
// received.txt: the webhook-id of everything received, one a line. Prints what is missing, and remembers where it was.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type page struct {
	Data []struct {
		EventUUID string `json:"event_uuid"`
		Endpoints []struct{ Verdict string }
	}
	HasMore    bool   `json:"has_more"`
	NextCursor string `json:"next_cursor"`
	Gap        string
}

// Waits where there were too many requests, or the service is not available now.
func read(cursor string) (read page) {
	request, err := http.NewRequest("GET", os.Getenv("HOOKRAIL_BASE_URL")+"/merchant/events?order=asc&limit=500"+cursor, nil)
	must(err)
	request.Header.Set("authorization", "API-Key "+os.Getenv("HOOKRAIL_API_KEY"))
	answer, err := http.DefaultClient.Do(request)
	must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(err)
	if seconds, err := strconv.Atoi(answer.Header.Get("retry-after")); err == nil {
		time.Sleep(time.Duration(seconds) * time.Second)
		return page{NextCursor: strings.TrimPrefix(cursor, "&cursor="), HasMore: true}
	} else if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status, " ", string(body))
	}
	must(json.Unmarshal(body, &read))
	return read
}

func main() {
	file := os.Getenv("RECONCILE_STATE")
	if file == "" {
		file = "reconcile.state"
	}
	lines, err := os.ReadFile(os.Args[1])
	must(err)
	received := map[string]bool{}
	for _, id := range strings.Fields(string(lines)) {
		received[id] = true
	}
	// The cursor, then the events that were missing so far: one may be on its way, and arrive before the next run.
	stored, _ := os.ReadFile(file)
	cursor, missing := "", []string{}
	if state := strings.Fields(string(stored)); len(state) > 0 {
		cursor, missing = "&cursor="+state[0], state[1:]
	}
	for more := true; more; {
		next := read(cursor)
		if next.Gap != "" {
			fmt.Println("gap", next.Gap) // older events are no longer in the feed
		}
		for _, event := range next.Data {
			for _, each := range event.Endpoints {
				if each.Verdict == "routed" {
					missing = append(missing, event.EventUUID)
					break
				}
			}
		}
		left := []string{}
		for _, id := range missing {
			if !received[id] {
				left = append(left, id)
			}
		}
		missing, more = left, next.HasMore
		if next.NextCursor == "" {
			continue
		}
		cursor = "&cursor=" + next.NextCursor
		must(os.WriteFile(file+".new", []byte(next.NextCursor+"\n"+strings.Join(missing, "\n")+"\n"), 0o600))
		must(os.Rename(file+".new", file)) // both at once: a run that is killed is repeated from the page before
	}
	for _, id := range missing {
		fmt.Println("missing", id)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
