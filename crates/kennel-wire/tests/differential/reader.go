// Says of each line what Go's encoding/json takes it for: into a struct, which ignores case, or with "map" into a map.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type params struct {
	Name   *string `json:"name"`
	URI    *string `json:"uri"`
	TaskID *string `json:"taskId"`
}

type message struct {
	ID     *json.RawMessage `json:"id"`
	Method *string          `json:"method"`
	Params *params          `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  json.RawMessage  `json:"error"`
}

type seen struct {
	Refused bool    `json:"refused,omitempty"`
	Name    *string `json:"name"`
	URI     *string `json:"uri"`
	TaskID  *string `json:"taskid"`
	ID      *string `json:"id"`
	Method  *string `json:"method"`
	Result  bool    `json:"result"`
	Error   bool    `json:"error"`
}

func text(value any) *string {
	if text, ok := value.(string); ok {
		return &text
	}
	return nil
}

func intoStruct(line []byte) seen {
	var read message
	if json.Unmarshal(line, &read) != nil {
		return seen{Refused: true}
	}
	found := seen{Method: read.Method, Result: len(read.Result) > 0, Error: len(read.Error) > 0}
	if read.ID != nil && string(*read.ID) != "null" {
		id := string(*read.ID)
		found.ID = &id
	}
	if read.Params != nil {
		found.Name, found.URI, found.TaskID = read.Params.Name, read.Params.URI, read.Params.TaskID
	}
	return found
}

func intoMap(line []byte) seen {
	var read map[string]any
	if json.Unmarshal(line, &read) != nil {
		return seen{Refused: true}
	}
	_, result := read["result"]
	_, failed := read["error"]
	found := seen{Method: text(read["method"]), Result: result, Error: failed}
	if id := read["id"]; id != nil {
		written, _ := json.Marshal(id)
		spelled := string(written)
		found.ID = &spelled
	}
	if params, ok := read["params"].(map[string]any); ok {
		found.Name, found.URI, found.TaskID = text(params["name"]), text(params["uri"]), text(params["taskId"])
	}
	return found
}

func main() {
	look := intoStruct
	if len(os.Args) > 1 && os.Args[1] == "map" {
		look = intoMap
	}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		answer, _ := json.Marshal(look(line))
		out.Write(append(answer, '\n'))
	}
}
