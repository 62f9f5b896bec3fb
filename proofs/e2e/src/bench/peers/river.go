// The worker of River: works on jobs that each put 2 KB into S3, first to warm up and then, on SIGUSR2, to be
// measured. Arguments: database URL, endpoint, bucket, jobs to warm up, jobs.
package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// As one upload-worker has them.
const (
	maxWorkers  = 40
	connections = 10
)

type putArgs struct {
	Text string `json:"text"`
}

func (putArgs) Kind() string { return "put" }

type putWorker struct {
	river.WorkerDefaults[putArgs]
	bucketURL string
	client    *http.Client
	left      atomic.Int64
	allPut    chan struct{}
}

func (w *putWorker) Work(ctx context.Context, job *river.Job[putArgs]) error {
	if err := w.put(ctx, []byte(job.Args.Text)); err != nil {
		return err
	}
	if w.left.Add(-1) == 0 {
		w.allPut <- struct{}{}
	}
	return nil
}

// Signed and verified as the upload-worker does it: the ETag of the answer is the MD5 of what S3 has.
func (w *putWorker) put(ctx context.Context, content []byte) error {
	key := make([]byte, 16)
	rand.Read(key)
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, w.bucketURL+hex.EncodeToString(key), bytes.NewReader(content))
	if err != nil {
		return err
	}
	sum := md5.Sum(content)
	digest := sha256.Sum256(content)
	request.Header.Set("Content-Type", "application/octet-stream")
	request.Header.Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
	request.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(digest[:]))
	credentials := aws.Credentials{AccessKeyID: "pasteflow", SecretAccessKey: "pasteflow"}
	err = signer.NewSigner().SignHTTP(ctx, credentials, request, hex.EncodeToString(digest[:]), "s3", "us-east-1", time.Now())
	if err != nil {
		return err
	}
	answer, err := w.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if etag := strings.Trim(answer.Header.Get("ETag"), `"`); answer.StatusCode != 200 || etag != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("the put was answered %d with the ETag %s", answer.StatusCode, etag)
	}
	return nil
}

// The intervals are those of River's own benchmark, `river bench`: by default it fetches ten times a second.
func newClient(pool *pgxpool.Pool, worker *putWorker) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, worker)
	return river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: maxWorkers}},
		Workers:           workers,
	})
}

func fill(ctx context.Context, client *river.Client[pgx.Tx], worker *putWorker, count int) error {
	worker.left.Store(int64(count))
	for count > 0 {
		batch := make([]river.InsertManyParams, min(count, 1000))
		for i := range batch {
			content := make([]byte, 1536)
			rand.Read(content)
			batch[i].Args = putArgs{Text: base64.RawURLEncoding.EncodeToString(content)}
		}
		if _, err := client.InsertManyFast(ctx, batch); err != nil {
			return err
		}
		count -= len(batch)
	}
	return nil
}

func run(ctx context.Context, databaseURL, bucketURL string, warmUp, count int) error {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return err
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	worker := &putWorker{
		bucketURL: bucketURL,
		client:    &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: maxWorkers}},
		allPut:    make(chan struct{}, 1),
	}
	client, err := newClient(pool, worker)
	if err != nil {
		return err
	}
	if err := fill(ctx, client, worker, warmUp); err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	<-worker.allPut
	if err := client.Stop(ctx); err != nil {
		return err
	}
	if err := fill(ctx, client, worker, count); err != nil {
		return err
	}
	begin := make(chan os.Signal, 1)
	signal.Notify(begin, syscall.SIGUSR2)
	fmt.Println("filled")
	<-begin
	if err := client.Start(ctx); err != nil {
		return err
	}
	select {} // until it is killed
}

func main() {
	warmUp, _ := strconv.Atoi(os.Args[4])
	count, _ := strconv.Atoi(os.Args[5])
	if err := run(context.Background(), os.Args[1], os.Args[2]+"/"+os.Args[3]+"/bench/", warmUp, count); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
