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

var seen sync.Map // in production: a table with a unique column, which outlives a restart

func receive(w http.ResponseWriter, r *http.Request) {
	secret := os.Getenv("WEBHOOK_SECRET")
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	id, sent := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	equal := func(name, value string) bool { return hmac.Equal([]byte(r.Header.Get(name)), []byte(value)) }
	seconds, _ := strconv.ParseInt(sent, 10, 64)
	fresh := time.Since(time.Unix(seconds, 0)).Abs() < 5*time.Minute
	if err != nil || !fresh || !equal("webhook-signature", signature) || !equal("authorization", "API-Key "+secret) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Println("refused", id, map[bool]string{true: "another secret", false: "too old"}[fresh])
		return
	}
	if _, again := seen.LoadOrStore(id, true); !again { // a webhook may come more than once
		go handle(id, body) // returning answers 200: answer first, work afterwards
	}
}

func handle(id string, body []byte) {
	var event struct{ Type string }
	json.Unmarshal(body, &event)
	fmt.Println("received", id, event.Type)
}

func main() {
	fmt.Println("listening on port", os.Getenv("PORT"))
	log.Fatal(http.ListenAndServe(":"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
