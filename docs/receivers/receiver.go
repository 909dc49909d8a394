// WEBHOOK_SECRET=whsec_… PORT=8000 go run receiver.go   (Go 1.20; then: hookrail sim listen --forward-to 8000)
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var secrets = strings.Fields(os.Getenv("WEBHOOK_SECRET")) // while a secret is rotated: "whsec_new… whsec_old…"
var seen = map[string]bool{}    // in production: a table with a unique column, which outlives a restart
var latest = map[string]int64{} // the highest sequence of each thing; in production: a column beside its state
var mutex sync.Mutex
var note sync.Once

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	id, sent := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	signed, passed := false, false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, keyOf(secret))
		fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
		signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, each := range strings.Fields(r.Header.Get("webhook-signature")) {
			signed = hmac.Equal([]byte(each), []byte(signature)) || signed
		}
		passed = r.Header.Get("authorization") == "API-Key "+secret || passed
	}
	seconds, _ := strconv.ParseInt(sent, 10, 64)
	fresh := time.Since(time.Unix(seconds, 0)).Abs() < 5*time.Minute
	if err != nil || !signed || !fresh {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Println("refused", id, map[bool]string{true: "too old", false: "another secret, or a changed body"}[signed])
		return
	}
	if !passed {
		note.Do(func() { noteAuthorization(r.Header.Get("authorization") != "") })
	}
	var event struct{ Type string }
	json.Unmarshal(body, &event)
	sequence, missing := strconv.ParseInt(r.Header.Get("webhook-sequence"), 10, 64)
	result := remember(id, event.Type+" "+r.Header.Get("webhook-subject-id"), sequence, missing == nil)
	w.Header().Set("webhook-result", result)
	go handle(result, id, event.Type) // returning answers 200: answer first, work afterwards
}

func remember(id, about string, sequence int64, numbered bool) string {
	mutex.Lock()
	defer mutex.Unlock()
	if seen[id] { // a webhook may come more than once
		return "repeated"
	}
	seen[id] = true
	if numbered && sequence < latest[about] { // a newer one came first: do not apply this one
		return "older"
	}
	if numbered {
		latest[about] = sequence
	}
	return "applied"
}

// The signature proves more than Authorization, which some servers keep to themselves.
func noteAuthorization(another bool) {
	fmt.Println(map[bool]string{true: "another", false: "no"}[another], "Authorization arrived; the signature is enough.",
		`To get it: Apache "CGIPassAuth On", nginx "proxy_set_header Authorization $http_authorization"`,
		"(fastcgi_param HTTP_AUTHORIZATION), API gateways: forward the header Authorization.")
}

func handle(result, id, kind string) {
	switch result {
	case "applied":
		fmt.Println("received", id, kind)
	case "older":
		fmt.Println("older", id, kind)
	}
}

func keyOf(secret string) []byte {
	if encoded, found := strings.CutPrefix(secret, "whsec_"); found {
		decoded, _ := base64.StdEncoding.DecodeString(encoded)
		return decoded
	}
	return []byte(secret)
}

func main() {
	if len(secrets) == 0 {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	for _, secret := range secrets {
		if len(keyOf(secret)) == 0 {
			log.Fatal("a secret of WEBHOOK_SECRET is not base64 after whsec_")
		}
	}
	fmt.Println("listening on port", os.Getenv("PORT"))
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
